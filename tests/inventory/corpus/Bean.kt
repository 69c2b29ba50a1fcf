import jakarta.jms.Message
@MessageDriven(activationConfig = [ActivationConfigProperty(propertyName = "destination", propertyValue = "jms/q"),
    ActivationConfigProperty(propertyName = "messageSelector", propertyValue = "b = 1")])
class Bean
