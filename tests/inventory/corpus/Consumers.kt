package org.example
import org.springframework.jms.annotation.JmsListener
import javax.jms.Session

const val KIND = "kind = 'a'"

class Consumers(private val session: Session) {
    companion object { const val BIG = "total > 1000"; private const val BOTH = "$KIND AND ${BIG}" }

    @JmsListener(destination = "orders", selector = KIND)
    fun a(s: String) {}

    @JmsListener(destination = "orders", selector = """
        type = 'x'
        AND y = 1""")
    fun b(s: String) {}

    @JmsListener(destination = "c", selector = Consumers.BOTH)
    fun c(s: String) {}

    @JmsListener(destination = "d", selector = "\${app.selector}")
    fun d(s: String) {}

    fun calls(id: String, q: Queue) {
        session.createConsumer(q, "JMSCorrelationID = '$id'")
        session.createConsumer(q, "x = ${q.name}")
        session.createBrowser(q, """a = 'b' AND c LIKE '%\_' ESCAPE '\'""")
        session.createConsumer(queue = q, messageSelector = "named = 1")
        session?.createConsumer(q, "safe = 1")
        template.apply { receiveSelected("q", "k = '" + "v" + "'") }
        container.messageSelector = "prop = 1"
        container.apply { messageSelector = "inner = 1" }
        DefaultMessageListenerContainer().apply { setMessageSelector("set = 1") }
        session.createConsumer(q, """
            |m = 1
            |  AND n = 2
        """.trimMargin())
        val other = "selector = 1"
    }
}

@MessageDriven(activationConfig = [
    ActivationConfigProperty(propertyName = "destination", propertyValue = "jms/k"),
    ActivationConfigProperty(propertyName = "messageSelector", propertyValue = "k = 'mdb'")
])
class Mdb
