// The folder is not the package's: Kotlin leaves out what all packages have in common.
@file:JvmName("KotlinSums")

package org.acme.heat

fun small(values: IntArray): Int = values.count {
    it.toLong() * it % 7 < 3 // hot: the program's line
}

fun main(args: Array<String>) {
    var rounds = args[0].toInt()
    val values = IntArray(100_000) { it }
    var sum = 0L
    while (rounds-- > 0) {
        sum += small(values) + values.sum()
    }
    println(sum)
}
