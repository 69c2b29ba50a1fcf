package a;
import javax.jms.*;
class Listeners {
    private static final String TYPE = "JMSType = 'order'";
    static final String BOTH = TYPE + " AND region = \"x\"";
    @JmsListener(destination = "orders", selector = TYPE)
    void one() {}
    @JmsListener(destination = "orders", selector = "ärger = 'ß' AND \u0061 = '\t'")
    void two() {}
    @JmsListener(destination = "orders", selector = "${jms.selector}")
    void three() {}
    void four(Session session, String id) throws Exception {
        session.createConsumer(queue, "JMSCorrelationID = '" + id + "'");
        session.createConsumer(queue, BOTH, true);
        session.createConsumer(queue, null);
        session.createConsumer(queue);
        session.createDurableSubscriber(topic, "name", """
            a = 1
              AND b = 2""", false);
        template.receiveSelected("orders", id);
        // session.createConsumer(queue, "commented = 1")
        from("jms:queue:in?selector=a%3D1&x=y");
    }
}
@MessageDriven(activationConfig = {
    @ActivationConfigProperty(propertyName = "destination", propertyValue = "jms/q"),
    @ActivationConfigProperty(propertyName = "messageSelector", propertyValue = "tenant = 'CEA'")})
class Bean {}
