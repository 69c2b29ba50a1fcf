import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.command.ActiveMQQueue;
import org.apache.activemq.store.kahadb.KahaDBPersistenceAdapter;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;
import org.apache.qpid.server.model.Broker;
import org.apache.qpid.server.model.Queue;
import org.apache.qpid.server.model.SystemConfig;

/**
 * A broker with AMQP 1.0 at a port of the loopback, that keeps its messages in a folder; the queue is called orders.
 *
 * <pre>java LiveBroker PRODUCT PORT FOLDER</pre>
 *
 * PRODUCT is artemis, activemq or broker-j. Prints {@code ready}, and answers each line of stdin by one: {@code depth} by
 * the number of messages in the queue, {@code send N} by N, once the product's own client of JMS has sent as many.
 */
public final class LiveBroker {
    private record Running(ConnectionFactory factory, LongSupplier depth) {}

    private static Running artemis(int port, File folder) throws Exception {
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(true).setSecurityEnabled(false).setJMXManagementEnabled(false);
        configuration.setJournalType(JournalType.NIO).setJournalDirectory(folder + "/journal");
        configuration.setBindingsDirectory(folder + "/bindings").setPagingDirectory(folder + "/paging");
        configuration.setLargeMessagesDirectory(folder + "/large").setJournalSyncNonTransactional(false);
        configuration.addAcceptorConfiguration("all", "tcp://127.0.0.1:" + port + "?protocols=AMQP,CORE");
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setConfiguration(configuration);
        server.start();
        return new Running(
                new org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory("tcp://127.0.0.1:" + port),
                () -> server.getActiveMQServer().locateQueue("orders").getMessageCount());
    }

    private static Running activemq(int port, File folder) throws Exception {
        BrokerService broker = new BrokerService();
        KahaDBPersistenceAdapter store = new KahaDBPersistenceAdapter();
        store.setDirectory(folder);
        broker.setPersistenceAdapter(store);
        broker.setUseJmx(false);
        broker.addConnector("amqp://127.0.0.1:" + port);
        broker.addConnector("vm://live");
        broker.start();
        broker.waitUntilStarted();
        return new Running(new org.apache.activemq.ActiveMQConnectionFactory("vm://localhost"), () -> {
            try {
                return broker.getDestination(new ActiveMQQueue("orders")).getDestinationStatistics().getMessages()
                        .getCount();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        });
    }

    private static Running brokerJ(int port, File folder) throws Exception {
        String host = "{\\\"type\\\":\\\"DERBY\\\",\\\"storePath\\\":\\\"" + folder + "/store\\\","
                + "\\\"queues\\\":[{\\\"name\\\":\\\"orders\\\",\\\"type\\\":\\\"standard\\\",\\\"durable\\\":true}]}";
        String aliases = "[{\"name\":\"d\",\"type\":\"defaultAlias\"},{\"name\":\"h\",\"type\":\"hostnameAlias\"}]";
        File file = new File(folder, "initial.json");
        Files.writeString(file.toPath(), "{\"name\":\"live\",\"modelVersion\":\"" + MODEL + "\","
                + "\"authenticationproviders\":[{\"name\":\"any\",\"type\":\"Anonymous\"}],\"ports\":[{\"name\":\"amqp\","
                + "\"port\":\"" + port + "\",\"bindingAddress\":\"127.0.0.1\",\"authenticationProvider\":\"any\","
                + "\"protocols\":[\"AMQP_1_0\"],\"virtualhostaliases\":" + aliases + "}],\"virtualhostnodes\":[{"
                + "\"name\":\"default\",\"type\":\"JSON\",\"storePath\":\"" + folder + "/node\","
                + "\"defaultVirtualHostNode\":\"true\",\"virtualHostInitialConfiguration\":\"" + host + "\"}]}");
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("type", "JSON");
        attributes.put("storePath", folder + "/configuration.json");
        attributes.put("initialConfigurationLocation", file.toURI().toString());
        attributes.put("startupLoggedToSystemOut", "false");
        attributes.put("context", Map.of("qpid.work_dir", folder.toString()));
        AtomicReference<SystemConfig<?>> system = new AtomicReference<>();
        new SystemLauncher(new SystemLauncherListener.DefaultSystemLauncherListener() {
            @Override
            public void onContainerResolve(SystemConfig<?> resolved) {
                system.set(resolved);
            }
        }).startup(attributes);
        ConnectionFactory factory = new org.apache.qpid.jms.JmsConnectionFactory("amqp://127.0.0.1:" + port);
        return new Running(factory, () -> {
            Broker<?> broker = (Broker<?>) system.get().getContainer();
            return broker.getVirtualHostNodes().iterator().next().getVirtualHost().getChildByName(Queue.class, "orders").getQueueDepthMessages();
        });
    }

    private static final String MODEL = org.apache.qpid.server.model.BrokerModel.MODEL_VERSION;

    private static void send(ConnectionFactory factory, int count) throws Exception {
        try (Connection connection = factory.createConnection()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue("orders"));
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
            for (int number = 0; number < count; number++) {
                Message message;
                switch (number % 4) {
                    case 0 -> message = session.createTextMessage("<order number='" + number + "'/>");
                    case 1 -> {
                        BytesMessage bytes = session.createBytesMessage();
                        bytes.writeBytes(new byte[] {0, 1, (byte) number});
                        message = bytes;
                    }
                    case 2 -> {
                        MapMessage map = session.createMapMessage();
                        map.setInt("number", number);
                        message = map;
                    }
                    default -> message = session.createObjectMessage(number);
                }
                message.setJMSType(number % 3 == 0 ? "car" : "bus");
                message.setJMSCorrelationID("c-" + number);
                message.setStringProperty("JMSXGroupID", "g" + number % 5);
                message.setIntProperty("number", number);
                message.setBooleanProperty("b", number % 2 == 0);
                message.setByteProperty("y", (byte) number);
                message.setShortProperty("sh", (short) number);
                message.setLongProperty("l", 5_000_000_000L + number);
                message.setFloatProperty("f", 0.1f);
                message.setDoubleProperty("d", number / 8.0);
                message.setStringProperty("s", "näme " + number);
                if (number % 7 == 0) {
                    message.setObjectProperty("n", null);
                }
                producer.send(message, DeliveryMode.PERSISTENT, number % 10, number % 11 == 0 ? 3_600_000 : 0);
            }
            session.commit();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[1]);
        File folder = new File(arguments[2]);
        Running running = switch (arguments[0]) {
            case "artemis" -> artemis(port, folder);
            case "activemq" -> activemq(port, folder);
            default -> brokerJ(port, folder);
        };
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            if (line.startsWith("send ")) {
                int count = Integer.parseInt(line.substring(5));
                send(running.factory, count);
                System.out.println(count);
            } else {
                System.out.println(running.depth.getAsLong());
            }
        }
        System.exit(0);
    }
}
