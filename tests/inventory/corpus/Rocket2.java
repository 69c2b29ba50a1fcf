import org.apache.rocketmq.client.consumer.*;
@RocketMQMessageListener(topic = "T", consumerGroup = "g", selectorType = SelectorType.SQL92, selectorExpression = "a between 0 and 3")
class Rocket2 implements RocketMQListener<String> {
  void f() {
    consumer.subscribe("TopicTest", MessageSelector.bySql("(TAGS is not null and TAGS in ('TagA', 'TagB')) and (a is not null and a between 0 and 3)"));
    consumer.subscribe("T2", MessageSelector.byTag("TagA || TagB"));
    new FilterExpression("b > 3", FilterExpressionType.SQL92);
    new FilterExpression("TagA", FilterExpressionType.TAG);
  }
}
@RocketMQMessageListener(topic = "T", consumerGroup = "g2", selectorExpression = "tagA || tagB")
class Tags {}
@ExtRocketMQConsumerConfiguration(topic = "E", selectorType = SelectorType.SQL92, selectorExpression = "c = 1")
class Ext {}
