import org.jsoup.*;
import java.nio.channels.Selector;
/** messageSelector = "doc = 1" */
class Jsoup {
  Selector selector = Selector.open();
  String css = "a[href='x']";
  void f() { doc.select("a = 1"); page.locator("text='x'"); driver.findElement(By.cssSelector("a[b='c']")); x.setSelector(selector); createBrowser("chrome"); }
  // @JmsListener(destination = "q", selector = "commented = 1")
  /* session.createConsumer(q, "block = 1"); */
}
class MessageSelector { private final String selector; MessageSelector(String selector) { this.selector = selector; } String getMessageSelector() { return selector; } }
