// Neither the file's name nor its folder is that of the class: Scala allows both.
package org.acme
package heat

object ScalaSums {
  def squares(n: Int): Long = {
    var sum = 0L
    for (i <- 0 until n) {
      sum += i.toLong * i % 7 // hot: the program's line
    }
    sum
  }

  def main(args: Array[String]): Unit = {
    var rounds = args(0).toInt
    var sum = 0L
    while (rounds > 0) {
      sum += squares(100000)
      rounds -= 1
    }
    println(sum)
  }
}
