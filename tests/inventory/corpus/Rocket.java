import org.apache.rocketmq.client.consumer.MessageSelector;
@RocketMQMessageListener(topic = "t", consumerGroup = "g", selectorType = SelectorType.SQL92, selectorExpression = "a between 0 and 3")
class Rocket { void f() { consumer.subscribe("T", MessageSelector.bySql("b = 1")); } }
@RocketMQMessageListener(topic = "t", selectorExpression = "tagA")
class Tags {}
