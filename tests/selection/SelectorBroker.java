import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.DeliveryMode;
import javax.jms.InvalidSelectorException;
import javax.jms.JMSException;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TextMessage;
import javax.jms.Topic;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.postoffice.impl.LocalQueueBinding;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptorFactory;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.ActiveMQServers;
import org.apache.activemq.broker.BrokerService;

/**
 * Publishes typed messages to a topic of a broker inside this process, and tells who of its subscribers got which.
 *
 * <pre>java SelectorBroker BROKER CASES</pre>
 *
 * BROKER is activemq or artemis, CASES a JSON file: {"selectors": [text, …], "messages": [{name: [type, value], …}, …]}.
 * Each selector has a subscriber, over TCP on the loopback. Prints a JSON array: per selector the indices of the messages
 * that arrived, or the reason why the broker refused it.
 */
public final class SelectorBroker {
    private static final long PATIENCE = 60_000;

    /** A broker that runs: how to connect, how many messages it has given to subscribers, how to stop it. */
    private record Running(ConnectionFactory factory, LongSupplier given, AutoCloseable stop) {}

    private static Running activemq() throws Exception {
        BrokerService broker = new BrokerService();
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.setAdvisorySupport(false);
        broker.addConnector("tcp://127.0.0.1:0");
        broker.start();
        broker.waitUntilStarted();
        String uri = broker.getTransportConnectors().get(0).getConnectUri().toString();
        LongSupplier given = () -> {
            try {
                return broker.getDestination(new org.apache.activemq.command.ActiveMQTopic("selectors"))
                        .getDestinationStatistics().getDispatched().getCount();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        };
        return new Running(new ActiveMQConnectionFactory(uri), given, broker::stop);
    }

    private static Running artemis() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(false).setSecurityEnabled(false).setJMXManagementEnabled(false);
        configuration.addAcceptorConfiguration(new TransportConfiguration(
                NettyAcceptorFactory.class.getName(), Map.of("host", "127.0.0.1", "port", port, "protocols", "CORE")));
        ActiveMQServer server = ActiveMQServers.newActiveMQServer(configuration, false);
        server.start();
        LongSupplier given = () -> server.getPostOffice().getAllBindings()
                .filter(binding -> binding instanceof LocalQueueBinding)
                .mapToLong(binding -> ((LocalQueueBinding) binding).getQueue().getMessagesAdded()).sum();
        String uri = "tcp://127.0.0.1:" + port + "?blockOnNonDurableSend=true&consumerWindowSize=-1";
        return new Running(new org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory(uri), given, server::stop);
    }

    private static void set(TextMessage message, String name, String type, JsonNode value) throws JMSException {
        switch (type) {
            case "boolean" -> message.setBooleanProperty(name, value.asBoolean());
            case "int8" -> message.setByteProperty(name, (byte) value.asInt());
            case "int16" -> message.setShortProperty(name, (short) value.asInt());
            case "int32" -> message.setIntProperty(name, value.asInt());
            case "int64" -> message.setLongProperty(name, value.asLong());
            case "float32" -> message.setFloatProperty(name, Float.parseFloat(value.asText()));
            case "float64" -> message.setDoubleProperty(name, Double.parseDouble(value.asText()));
            case "null" -> message.setObjectProperty(name, null);
            default -> message.setStringProperty(name, value.asText());
        }
    }

    private static void send(MessageProducer producer, TextMessage message, JsonNode properties) throws JMSException {
        int mode = DeliveryMode.PERSISTENT;
        int priority = 4;
        for (Iterator<Map.Entry<String, JsonNode>> fields = properties.fields(); fields.hasNext();) {
            Map.Entry<String, JsonNode> field = fields.next();
            JsonNode value = field.getValue().get(1);
            switch (field.getKey()) {
                case "JMSPriority" -> priority = value.asInt();
                case "JMSDeliveryMode" -> mode = value.asText().equals("PERSISTENT") ? mode : DeliveryMode.NON_PERSISTENT;
                case "JMSType" -> message.setJMSType(value.asText());
                case "JMSCorrelationID" -> message.setJMSCorrelationID(value.asText());
                default -> set(message, field.getKey(), field.getValue().get(0).asText(), value);
            }
        }
        producer.send(message, mode, priority, 0);
    }

    public static void main(String[] arguments) {
        int status = 0;
        try {
            System.out.println(answers(arguments[0], new ObjectMapper().readTree(new File(arguments[1]))));
        } catch (Exception error) {
            error.printStackTrace();
            status = 1;
        }
        System.exit(status); // whatever threads a broker leaves behind
    }

    private static ArrayNode answers(String broker, JsonNode cases) throws Exception {
        Running running = broker.equals("activemq") ? activemq() : artemis();
        Connection connection = running.factory().createConnection();
        if (connection instanceof org.apache.activemq.ActiveMQConnection classic) {
            classic.setUseAsyncSend(false);
            classic.setAlwaysSyncSend(true);
        }
        connection.start();
        List<List<Integer>> received = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        AtomicLong arrived = new AtomicLong();
        for (JsonNode selector : cases.get("selectors")) {
            List<Integer> mine = new ArrayList<>();
            received.add(mine);
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic topic = session.createTopic("selectors");
            try {
                session.createConsumer(topic, selector.asText()).setMessageListener(message -> {
                    try {
                        mine.add(Integer.valueOf(((TextMessage) message).getText()));
                    } catch (JMSException error) {
                        throw new IllegalStateException(error);
                    }
                    arrived.incrementAndGet();
                });
                refused.add(null);
            } catch (InvalidSelectorException error) {
                refused.add(String.valueOf(error.getMessage()));
            }
        }
        Connection publishing = running.factory().createConnection();
        if (publishing instanceof org.apache.activemq.ActiveMQConnection classic) {
            classic.setAlwaysSyncSend(true);
        }
        Session session = publishing.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer producer = session.createProducer(session.createTopic("selectors"));
        int number = 0;
        for (JsonNode properties : cases.get("messages")) {
            send(producer, session.createTextMessage(String.valueOf(number++)), properties);
        }
        // Done when all that the broker gave has arrived, and neither count moves any more.
        long end = System.currentTimeMillis() + PATIENCE;
        long before = -1;
        while (before != running.given().getAsLong() || arrived.get() != before) {
            if (System.currentTimeMillis() > end) {
                throw new IllegalStateException(running.given().getAsLong() + " given, " + arrived.get() + " arrived");
            }
            before = running.given().getAsLong();
            Thread.sleep(500);
        }
        publishing.close();
        connection.close();
        running.stop().close();
        ArrayNode answers = new ObjectMapper().createArrayNode();
        for (int i = 0; i < received.size(); i++) {
            if (refused.get(i) == null) {
                ArrayNode indices = answers.addArray();
                received.get(i).forEach(indices::add);
            } else {
                answers.add(refused.get(i));
            }
        }
        return answers;
    }
}
