import Emulation
import Testing

@Suite("Ids in the order in which they came")
struct ArrivalOrderTests {
    @Test("it holds what a plain array would, whatever is added, taken out and taken from the front")
    func likeAnArray() {
        var dice = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var (order, plain, moves) = (InsertionOrder<Int>(), [Int](), [String]())
            for _ in 0..<200 {
                let id = Int.random(in: 0..<60, using: &dice)
                switch Int.random(in: 0..<10, using: &dice) {
                case 0...5:
                    moves.append("+\(id)")
                    let isNew = order.append(id)
                    #expect(isNew == !plain.contains(id), "\(moves)")
                    if !plain.contains(id) { plain.append(id) }
                case 6...8:
                    moves.append("-\(id)")
                    let wasThere = order.remove(id)
                    #expect(wasThere == plain.contains(id), "\(moves)")
                    plain.removeAll { $0 == id }
                default:
                    let count = id % 5
                    moves.append("<\(count)")
                    let oldest = order.removeFirst(count)
                    #expect(oldest == Array(plain.prefix(count)), "\(moves)")
                    plain.removeFirst(min(count, plain.count))
                }
                #expect(Array(order) == plain, "\(moves)")
                #expect(order.count == plain.count && order.isEmpty == plain.isEmpty, "\(moves)")
            }
        }
    }
}
