package a
import android.graphics.*
class A { val selector = "a = 1"; fun f() { button.setSelector(R.drawable.x); page.waitForSelector("a = 1"); dispatcher.selector("x = 1") } }
