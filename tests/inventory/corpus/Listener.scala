import javax.jms._
object Listener {
  val Type = "t = 'x'"
  @JmsListener(destination = "orders", selector = "a = 1")
  def one(id: String) = {
    session.createConsumer(queue, Type + " AND b = 2")
    session.createConsumer(queue, s"id = '$id'")
    session.createBrowser(queue, """a = 1
      |AND b = 2""".stripMargin)
  }
}
