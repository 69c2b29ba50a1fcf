import javax.jms.*
class G { def f(session, q) { session.createConsumer(q, "g = 1"); session.createConsumer(q, 'single = \'x\'') ; session.createConsumer(q, "id = '${id}'") } }
