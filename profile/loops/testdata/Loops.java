import java.util.*;
public class Loops {
  static int chase(int[] x, int n) { int p = 0; for (int i = 0; i < n; i++) p = x[p]; return p; }
  static double sum(double[] x) { double s = 0; for (int i = 0; i < x.length; i++) s += x[i]; return s; }
  static int hash(byte[] x) { int h = 0; for (int i = 0; i < x.length; i++) h = 31 * h + x[i]; return h; }
  static int hashInts(int[] x) { int h = 1; for (int i = 0; i < x.length; i++) h = 31 * h + x[i]; return h; }
  static void saxpy(float[] x, float[] y, float a) { for (int i = 0; i < x.length; i++) y[i] += a * x[i]; }
  static int find(int[] x, int k) { int lo = 0, hi = x.length - 1; while (lo <= hi) { int m = (lo + hi) >>> 1; if (x[m] < k) lo = m + 1; else if (x[m] > k) hi = m - 1; else return m; } return -lo; }
  static final class Node { Node next; int v; Node(Node n, int v) { next = n; this.v = v; } }
  static int list(Node n) { int s = 0; while (n != null) { s += n.v; n = n.next; } return s; }
  static long lcg(long s, int n) { for (int i = 0; i < n; i++) s = s * 6364136223846793005L + 1442695040888963407L; return s; }
  static long div(long s, int n) { for (int i = 1; i < n; i++) s = s / i + 1_000_000_007L; return s; }
  public static void main(String[] a) {
    int[] x = new int[1024]; for (int i = 0; i < 1024; i++) x[i] = (i * 5 + 1) & 1023;
    int[] srt = new int[1 << 16]; for (int i = 0; i < srt.length; i++) srt[i] = 2 * i;
    double[] d = new double[1000]; Arrays.fill(d, 1.1); byte[] b = new byte[1000]; float[] f = new float[1000], g = new float[1000];
    Node n = null; for (int i = 0; i < 500; i++) n = new Node(n, i);
    long end = System.nanoTime() + Long.parseLong(a[0]) * 1_000_000_000L; double t = 0; long k = 0;
    while (System.nanoTime() < end) {
      for (int r = 0; r < 20; r++) { k += chase(x, 1000); t += sum(d); k += hash(b) + hashInts(x); saxpy(f, g, 1.5f); k += list(n); k += lcg(k, 1000); k += div(k, 200);
      for (int i = 0; i < 50; i++) k += find(srt, (int) (k & 0x1ffff)); }
    }
    System.out.println(t + k);
  }
}
