import org.apache.activemq.artemis.api.core.*;
class Core {
  static final String RED_SELECTOR = "color = 'red'"; // another class uses it
  static final String ID_SELECTOR = "JMSCorrelationID = '%s'";
  static final String OPEN_SELECTOR = "JMSMessageID = '";
  static final String CSS_SELECTOR = "a[href='x']";
  void f() throws Exception {
    server.createQueue(QueueConfiguration.of("q").setFilterString("size > 3"));
    session.createConsumer("q", new SimpleString("size > 4"));
    session.createConsumer("q", SimpleString.of("size > 5"));
    arguments.put("x-filter-jms-selector", "id = 1");
    properties.setProperty("messageSelector", "id = 2");
    arguments.put("selector", "id = 3");
    receiver.receiveSelected("id = 4", 1000L);
  }
}
