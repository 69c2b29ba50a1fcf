import org.apache.camel.builder.RouteBuilder;
class Routes extends RouteBuilder {
    void configure(String id) {
        from("activemq:queue:in?selector=" + id);
        from("jms:orders?concurrentConsumers=2&selector=RAW(a = 'b+c')").to("log:x?selector=no");
        from("sjms2:topic:t?selector={{the.selector}}");
    }
}
