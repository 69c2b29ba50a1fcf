import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends each line of stdin as a record: KafkaLines BROKERS TOPIC. Ends when the broker has all of them. With `read`
 * behind these it prints all records that the topic has instead.
 */
public class KafkaLines {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 2) {
            print(arguments[0], arguments[1]);
            return;
        }
        Map<String, Object> settings = Map.of("bootstrap.servers", arguments[0], "acks", "all");
        StringSerializer plain = new StringSerializer();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var producer = new KafkaProducer<String, String>(settings, plain, plain)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                producer.send(new ProducerRecord<>(arguments[1], line));
            }
            producer.flush();
        }
    }

    private static void print(String brokers, String topic) {
        Map<String, Object> settings = Map.of("bootstrap.servers", brokers);
        StringDeserializer plain = new StringDeserializer();
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (var consumer = new KafkaConsumer<String, String>(settings, plain, plain)) {
            var parts = consumer.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).toList();
            consumer.assign(parts);
            consumer.seekToBeginning(parts);
            for (var end : consumer.endOffsets(parts).entrySet()) {
                while (consumer.position(end.getKey()) < end.getValue()) {
                    for (var one : consumer.poll(Duration.ofMillis(100))) {
                        out.println(one.value());
                    }
                }
            }
        }
    }
}
