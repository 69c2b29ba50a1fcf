package org.example;

import javax.jms.*;
import org.springframework.jms.annotation.JmsListener;

/** Uses {@code createConsumer(q, "javadoc = 1")}. */
public class Orders {
    static final String REGION = "region";
    private static final String EU = REGION + " = 'EU'";
    public static final String BIG = EU + " AND total > " + 1000;
    final static String BLOCK = """
        type = 'order'
          AND note = 'a\tb\\c' \
        AND "x" = 1
        """;
    // s.createConsumer(q, "line comment = 1");
    private final Session session;

    @JmsListener(destination = "orders.eu", selector = EU)
    public void eu(String s) {}

    @JmsListener(selector = Orders.BIG, destination = Queues.BIG, concurrency = "3-5")
    public void big(String s) {}

    @JmsListener(destination = "orders.block", selector = BLOCK)
    public void block(String s) {}

    @JmsListener(destination = "${q.name}", selector = "${sel:type = 'x'}")
    public void placeholder(String s) {}

    @JmsListener(destination = "u", selector = "\u0061 = '\u00e9' AND b = \"q\"")
    public void escapes(String s) {}

    @JmsListeners({@JmsListener(destination = "m1", selector = "a = 1"), @JmsListener(destination = "m2", selector = "b = 2")})
    public void many(String s) {}

    @JmsListener(destination = "none")
    public void none(String s) { log.info("selector = " + s); }

    void calls(String id, boolean local) throws JMSException {
        MessageConsumer c = session.createConsumer(queue, "JMSCorrelationID = '" + id + "'");
        c = session.createConsumer(queue, BIG, true);
        c = session.createConsumer(queue);
        c = session.createConsumer(queue, null);
        c = session.createConsumer(queue, "");
        c = this.session.createDurableSubscriber(topic, "sub", "news = TRUE", false);
        c = session.createDurableConsumer(topic, "sub");
        c = session.createSharedConsumer(topic, "shared", "s IN ('a','b')");
        c = session.createSharedDurableConsumer(topic, "shared", String.format("id = '%s'", id));
        QueueBrowser b = session.createBrowser(queue, "JMSType = 'heartbeat'");
        QueueReceiver r = ((QueueSession) session).createReceiver(queue, ("p" + " = ") + 'c');
        TopicSubscriber t = topicSession.createSubscriber(topic, "t = 1", true);
        Message m = jmsTemplate.receiveSelected("q", "k = 'v'");
        Object o = jmsTemplate.receiveSelectedAndConvert("k2 = 'v'");
        jmsTemplate.browseSelected("bq", "z = 1", (s2, br) -> null);
        container.setMessageSelector("color = 'red'");
        container.setMessageSelector(selector);
        new ActivationSpec().setMessageSelector(buildSelector());
        String local2 = "loc = 1";
        session.createConsumer(queue, local2);
        JMSConsumer jc = context.createConsumer(dest, "ctx = 1");
        consumer.getMessageSelector();
        MessageSelector ms = new MessageSelector("not a selector");
        $("a.b").selector("x = 1");
        conn.createConnectionConsumer(queue, "cc = 1", pool, 10);
        String q2 = "queue:x?selector=no";
    }
}
