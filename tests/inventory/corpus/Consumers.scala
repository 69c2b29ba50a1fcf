package org.example
import javax.jms._

object Consumers {
  val Kind = "kind = 'a'"
  final val Both = Kind + " AND b = 2"
  def calls(id: String, session: Session, q: Queue): Unit = {
    session.createConsumer(q, Kind)
    session.createConsumer(q, Both)
    session.createConsumer(q, s"JMSCorrelationID = '$id'")
    session.createConsumer(q, s"k = 1 AND $Kind AND ${Consumers.Kind}")
    session.createBrowser(q, """raw = 'a"b' AND c LIKE '\_' ESCAPE '\'""")
    session.createDurableSubscriber(t, "n", "dur = 1", false)
    session.createConsumer(q, """x = 1
      | AND y = 2""".stripMargin)
    session.createConsumer(q, f"amount > ${1}%d")
    container.setMessageSelector("set = 1")
    container.messageSelector = "assigned = 1"
    JmsConsumerSettings(system, cf).withQueue("test").withSelector("IntProperty = 10")
    val src = JmsConsumer(JmsConsumerSettings(cf).withQueue("numbers").withSelector(s"a = 2"))
  }
  @JmsListener(destination = "s", selector = "ann = 1")
  def listen(s: String): Unit = {}
}
@MessageDriven(activationConfig = Array(
  new ActivationConfigProperty(propertyName = "messageSelector", propertyValue = "sc = 'mdb'"),
  new ActivationConfigProperty(propertyName = "destination", propertyValue = "jms/s")))
class Mdb
