import javax.jms.Message
@MessageDriven(activationConfig = Array(
  new ActivationConfigProperty(propertyName = "destination", propertyValue = "jms/q"),
  new ActivationConfigProperty(propertyName = "messageSelector", propertyValue = "b = 1")))
class Bean
