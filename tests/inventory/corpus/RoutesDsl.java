import org.apache.camel.builder.RouteBuilder;
public class RoutesDsl extends RouteBuilder {
  static final String SEL = "kind%3D'a'";
  public void configure() {
    from("jms:queue:in?selector=type='A'&concurrentConsumers=2").routeId("r").to("jms:out");
    from("activemq:q?selector=RAW(a = 1 AND b = 'x&y')&x=1").to("log:x?selector=1");
    from("jms:queue:q3?selector=" + SEL);
    from(jms("queue:dsl").selector("endpoint = 'dsl'").concurrentConsumers(1)).to("x");
    pollEnrich().simple("jms:queue:q4?selector=JMSCorrelationID='${header.id}'");
    fromF("jms:%s?selector=a='%s'", q, v);
    from("jms:topic:t?selector=JMSType%20%3D%20%27x%27");
  }
}
