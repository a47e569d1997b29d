import Emulation
import JSON
import Tokens

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
}

// MARK: - As a record

extension ComapiContent: KeyedRecord, CodedRecord {
    var key: String { id }
    var memory: Int { 256 + bytes.count + name.utf8.count + folder.utf8.count }

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
