import org.apache.kafka.*;
class A { void f() { x.createConsumer("g", props); } }
