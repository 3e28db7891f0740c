# Works in many ways, so that there are many different stacks, until it is killed.

class Node
  attr_reader :left, :right, :key

  def initialize(key)
    @key = key
  end

  def put(key)
    if key < @key
      @left ? @left.put(key) : @left = Node.new(key)
    else
      @right ? @right.put(key) : @right = Node.new(key)
    end
  end

  def depth
    1 + [@left ? @left.depth : 0, @right ? @right.depth : 0].max
  end
end

def tree(seed)
  root = Node.new(500_000)
  2000.times do
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    root.put(seed % 1_000_000)
  end
  root.depth
end

def words(seed)
  text = (0...3000).map { |i| "w#{(i * seed) % 97} x#{i % 13}" }.join(' ')
  counts = Hash.new(0)
  text.scan(/[a-z]\d+/) { |word| counts[word] += 1 }
  counts.sort_by { |word, count| [-count, word] }.first(5).map { |word, count| format('%-8s%5d', word, count) }
end

def numbers(seed)
  (1..2000).select { |n| n % 3 == seed % 3 }.each_slice(7).map { |slice| slice.reduce(:+) * 2**70 % 1_000_007 }.sum
end

def fail_often(seed, depth = 0)
  raise ArgumentError, "seed #{seed}" if depth == 5
  fail_often(seed, depth + 1)
rescue ArgumentError => e
  raise if depth > 0
  e.message.upcase.tr('AEIOU', '*')
end

puts 'READY'
$stdout.flush
round = 0
loop do
  round += 1
  tree(round)
  words(round)
  numbers(round)
  100.times { fail_often(round) }
end
