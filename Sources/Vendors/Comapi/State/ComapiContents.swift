import Emulation
import JSON
import Tokens

/// Something that was uploaded.
struct ComapiContent: Sendable {
    var id = ""
    var space = ComapiID("")
    var name = ""
    var type = ""
    var folder = ""
    var bytes: [UInt8] = []
}

/// The uploads of a sandbox, within bounds.
struct ComapiContents: Sendable {
    /// The largest upload, in bytes. Source: the spec, 4.7; ours.
    static let largest = 10 << 20
    /// What all uploads of a sandbox may take together, in bytes, and how many there may be; beyond it the oldest go. ours.
    static let totalLimit = 64 << 20
    static let capacity = 2000

    private static let bound = RecordBound(count: capacity, bytes: totalLimit, share: nil)

    private var table = RecordTable<ComapiContent>()

    /// All of them, the oldest first.
    var all: [ComapiContent] { table.all }

    subscript(id: String) -> ComapiContent? { table[id] }

    mutating func add(_ content: ComapiContent) {
        table.store(content)
        _ = table.shrink(to: Self.bound, sparing: content.id)
    }
}

// MARK: - As a record

extension ComapiContent: KeyedRecord, CodedRecord {
    var key: String { id }
    var memory: Int { bytes.count }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("space", &space)
        coder.member("name", &name)
        coder.member("type", &type)
        coder.member("folder", &folder, or: "content")
        coder.member("data", &bytes, or: nil, write: { .string(Base64URL.encode($0)) }) {
            (node) throws(FixtureProblem) in
            guard let bytes = Base64URL.decodeLeniently(try node.string().utf8) else {
                throw node.problem("is not base64")
            }
            guard bytes.count <= ComapiContents.largest else {
                throw node.problem("has more than \(ComapiContents.largest) bytes")
            }
            return bytes
        }
    }
}
