import io.fabric8.kubernetes.client.*;
class K8s { void f() { client.pods().withLabelSelector("app = 'web'").list(); new LabelSelectorBuilder().withMatchLabels(m).build(); svc.withSelector("a = 'b'"); consumerFactory.createConsumer("group", "client = 1"); } }
