import jakarta.ejb.*;

@MessageDriven(name = "Mdb", activationConfig = {
    @ActivationConfigProperty(propertyName = "messageSelector", propertyValue = Mdb.SEL),
    @ActivationConfigProperty(propertyValue = "jms/queue", propertyName = "destination"),
    @ActivationConfigProperty(propertyName = "destinationType", propertyValue = "jakarta.jms.Queue")
})
public class Mdb implements MessageListener {
    static final String SEL = "tenant = '" + Tenants.ID + "' AND kind = '" + KIND + "'";
    private static final String KIND = "bill";
}

@MessageDriven(activationConfig = {
    @ActivationConfigProperty(propertyValue = "tenant = 'CEA'", propertyName = "messageSelector"),
    @ActivationConfigProperty(propertyName = "destinationLookup", propertyValue = "java:/q2")})
class Second { }

@MessageDriven(activationConfig = @ActivationConfigProperty(propertyName = PROP, propertyValue = "single = 1"))
class Third { static final String PROP = "messageSelector"; }

@JMSDestinationDefinition(name = "x", interfaceName = "y", description = "messageSelector = 1")
class Fourth { }
