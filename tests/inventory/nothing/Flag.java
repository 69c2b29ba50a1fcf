import javax.jms.*;
class A { /* createConsumer(q, "a") */ void f() { s.createConsumer(q, true); } }
