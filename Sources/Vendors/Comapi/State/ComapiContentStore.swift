import Emulation
import JSON
import Tokens

/// An uploaded file.
struct ComapiContent: Sendable {
    var id = ""
    var space = ComapiID("")
    var name = ""
    var type = ""
    var folder = ""
    var bytes: [UInt8] = []
}

/// The uploads of a sandbox, oldest first.
typealias ComapiContentStore = RecordTable<ComapiContent>

extension ComapiContentStore {
    /// The maximum size of an upload, in bytes. ours.
    static var largest: Int { 10 << 20 }
    /// The maximum number of uploads per sandbox; beyond it, the oldest are removed. ours.
    static var capacity: Int { 2000 }
    /// The maximum total size of a sandbox's uploads, in bytes. ours.
    private static var totalLimit: Int { 64 << 20 }

    mutating func add(_ content: ComapiContent) {
        store(content)
        _ = shrink(to: RecordBound(count: Self.capacity, bytes: Self.totalLimit, share: nil), sparing: content.id)
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
            guard bytes.count <= ComapiContentStore.largest else {
                throw node.problem("has more than \(ComapiContentStore.largest) bytes")
            }
            return bytes
        }
    }
}
