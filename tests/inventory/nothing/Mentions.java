import javax.jms.*;
class Mentions {
  static final String DOC = "createConsumer(q, \"a = 1\")";
  static final String HELP = "DEFINE SUB(X) SELECTOR('a = 1')";
  String note = "selector = 'x'";
  void f(Session s, Queue q) throws Exception {
    s.createConsumer(q);
    s.createProducer(q);
    log.debug("messageSelector: a = 1");
    map.put("selector", "b = 1");
    s.createBrowser(q);
    throw new InvalidSelectorException("bad selector: a == 1");
  }
  void setMessageSelector(String messageSelector) { this.messageSelector = messageSelector; }
  @Queue("plain") void g() {}
}
