import org.eclipse.microprofile.reactive.messaging.*;
import jakarta.jms.*;
class Quarkus {
  @Inject ConnectionFactory cf;
  void f() { try (JMSContext ctx = cf.createContext()) { var c = ctx.createConsumer(ctx.createQueue("prices"), "price > 10"); } }
  @JMSListener(value = "q", selector = "micronaut = 1") void m() {}
  @Queue(value = "mq", messageSelector = "mn = 2") void n(String x) {}
  void spring() { IntegrationFlow f = IntegrationFlow.from(Jms.messageDrivenChannelAdapter(cf).destination("d").configureListenerContainer(c -> c.messageSelector("dsl = 3"))).get();
     endpoint.setSelector("ep = 1"); SimpleJmsListenerEndpoint e = new SimpleJmsListenerEndpoint(); e.setSelector("sj = 4"); }
}
