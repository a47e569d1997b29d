import Emulation
import JSON

/// Something that was uploaded.
struct ComapiContent: Sendable {
    let id: String
    let space: ComapiID
    let name: String
    let type: String
    let folder: String
    let bytes: [UInt8]
}

/// The uploads of a sandbox, within bounds.
struct ComapiContents: Sendable {
    /// The largest upload, in bytes. Source: the spec, 4.7; ours.
    static let largest = 10 << 20
    /// What all uploads of a sandbox may take together, in bytes, and how many there may be; beyond it the oldest go. ours.
    static let totalLimit = 64 << 20
    static let capacity = 2000

    private var contents: [String: ComapiContent] = [:]
    private var order: [String] = []
    private var total = 0

    /// All of them, the oldest first.
    var all: [ComapiContent] { order.compactMap { contents[$0] } }

    subscript(id: String) -> ComapiContent? { contents[id] }

    mutating func add(_ content: ComapiContent) {
        if contents.updateValue(content, forKey: content.id) == nil { order.append(content.id) }
        total += content.bytes.count
        var surplus = 0
        while total > Self.totalLimit || order.count - surplus > Self.capacity, surplus < order.count - 1 {
            total -= contents.removeValue(forKey: order[surplus])?.bytes.count ?? 0
            surplus += 1
        }
        order.removeFirst(surplus)
    }
}
