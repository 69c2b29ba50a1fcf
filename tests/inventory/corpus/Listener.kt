package a
import org.springframework.jms.annotation.JmsListener
const val TYPE = "t = 'x'"
class Listener {
    @JmsListener(destination = "orders", selector = "$TYPE AND b = 1")
    fun one(id: String) {
        session.createConsumer(queue, "id = '$id'")
        consumer.messageSelector = "z = 1"
    }
}
