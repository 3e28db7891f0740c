/* The JNI library of Jni.java. It needs no header of the JDK, because it uses neither the environment nor the class. */
#include <stdlib.h>
#include <string.h>

static int data[4096], copy[4096];

static inline __attribute__((always_inline)) int mix(int x)
{
	x ^= (unsigned)x >> 7;
	x *= 0x9e3779b1;
	return x ^ (unsigned)x >> 11;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

int Java_Jni_work(void *env, void *class, int rounds)
{
	int sum = (int)(env == class);
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < 4096; i++) {
			data[i] = mix(sum + i);
			sum += mix(data[i]);
		}
		memcpy(copy, data, sizeof data);
		qsort(copy, 512, sizeof copy[0], compare);
		sum += copy[7];
	}
	return sum;
}
