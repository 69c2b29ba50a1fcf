import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends each line of stdin as a record: KafkaLines BROKERS TOPIC. Ends when the broker has all of them. With a number
 * behind these it prints as many records instead, or fewer if no more come for ten seconds.
 */
public class KafkaLines {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 2) {
            print(arguments[0], arguments[1], Integer.parseInt(arguments[2]));
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

    private static void print(String brokers, String topic, int count) {
        Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "auto.offset.reset", "earliest", "group.id", "lines");
        StringDeserializer plain = new StringDeserializer();
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (var consumer = new KafkaConsumer<String, String>(settings, plain, plain)) {
            consumer.subscribe(List.of(topic));
            long end = System.nanoTime() + 10_000_000_000L;
            while (count > 0 && System.nanoTime() < end) {
                for (var one : consumer.poll(Duration.ofMillis(100))) {
                    out.println(one.value());
                    count--;
                    end = System.nanoTime() + 10_000_000_000L;
                }
            }
        }
    }
}
