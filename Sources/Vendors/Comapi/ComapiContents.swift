import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

struct ComapiContent: Sendable, KeyedRecord, CodedRecord {
    /// The maximum size of an upload, in bytes. ours.
    static let largest = 10 << 20

    var id = ""
    var space = ComapiID("")
    var name = ""
    var type = ""
    var folder = ""
    var bytes: [UInt8] = []

    // MARK: - As a record

    var key: String { id }
    var memory: Int { 256 + bytes.count + name.utf8.count + folder.utf8.count }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("space", &space)
        coder.member("name", &name)
        coder.member("type", &type)
        coder.member("folder", &folder, or: "content")
        let largest = Self.largest
        coder.member("data", &bytes, or: nil, write: { .string(Base64URL.encode($0)) }) {
            (node) throws(FixtureProblem) in
            guard let bytes = Base64URL.decodeLeniently(try node.string().utf8) else {
                throw node.problem("is not base64")
            }
            guard bytes.count <= largest else { throw node.problem("has more than \(largest) bytes") }
            return bytes
        }
    }
}

/// Content. Source: the three forms of an upload are observed; reading content is ours.
extension Comapi {
    static func uploadContent(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        guard let upload = try call.credentials.upload?.get() else { throw Refused(.malformedBody) }
        if let remark = upload.remark { call.note("unreadable-json", remark, source: "JS SDK, iOS SDK") }
        let folder = call.arrival.queryValues("folder").first { !$0.isEmpty } ?? "content"
        let id = call.identifiers.uuid()
        let content = ComapiContent(
            id: id, space: call.space.id, name: upload.name ?? id, type: upload.type, folder: folder,
            bytes: upload.bytes)
        state.contents.store(content)
        return .json([
            "id": .string(id), "name": .string(content.name), "size": JSON(content.bytes.count),
            "type": .string(content.type), "folder": .string(folder), "private": false,
            // On the host of the upload, and in the same sandbox.
            "url": .string("\(call.base)\(call.space.path)/content/\(id)"),
        ])
    }

    static func readContent(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["content"]
        guard let content = state.contents[id], content.id.hasSameBytes(as: id), content.space == call.space.id else {
            throw Refused(
                .unknownContent, because: "no content of the space has the id \(id); expected that of an upload")
        }
        return .respond(.clientContent(content.bytes, type: content.type))
    }
}

extension Call<Comapi> {
    /// The base of URLs that lead back here: the request's host, and its sandbox.
    var base: String {
        let scheme = request.connection.isSecure ? "https" : "http"
        let authority = request.authority ?? "localhost"
        let name = arrival.sandbox.name
        let isNamed = name == SandboxName.standard || authority.lowercased().hasPrefix("\(name).localhost")
        return "\(scheme)://\(authority)\(isNamed ? "" : "/~\(name)")"
    }
}

extension HTTPField.Name {
    /// Observed, Android SDK and JS SDK.
    fileprivate static let contentFileName = Self("Content-Filename") ?? .contentDisposition
}

struct ComapiUpload: Sendable {
    let bytes: [UInt8]
    let name: String?
    let type: String
    /// Why a body declared as JSON was stored raw; `nil` for all others.
    private(set) var remark: String?

    /// Reads the body: as JSON first, then as multipart; anything else is raw.
    init(_ arrival: ComapiArrival) throws(Comapi.Refused) {
        let request = arrival.request
        let type = request.fields[.contentType] ?? ""
        let fieldName = request.fields[.contentFileName].flatMap { $0.isEmpty ? nil : $0 }
        if let upload = try ComapiUpload(json: arrival, type, fieldName) {
            self = upload
        } else if MultipartForm.isForm(type) {
            arrival.acceptContent()
            self = try ComapiUpload(form: request.body, type)
        } else {
            arrival.acceptContent()
            self = try ComapiUpload(bytes: request.body, name: fieldName, type: type)
            if Self.saysJSON(type) { remark = Self.whyNoJSON(request.body) }
        }
    }

    private static func saysJSON(_ type: String) -> Bool {
        type.prefix(while: { $0 != ";" && $0 != " " }).lowercased() == "application/json"
    }

    private static func whyNoJSON(_ body: [UInt8]) -> String {
        let why: String
        do {
            let value = try JSON.parse(body)
            let missing = ["data", "type"].filter { value[$0]?.string == nil }
            why =
                value.object == nil
                ? "is a JSON \(value.typeName), not an object"
                : "has no text \(missing.joined(separator: " and no text "))"
        } catch {
            why = "is not JSON: \(error)"
        }
        return
            "The content type is application/json, and the body \(why); it is kept as raw bytes. The JSON form is an "
            + "object with data in base64 and type."
    }

    private init(bytes: [UInt8], name: String?, type: String) throws(Comapi.Refused) {
        // The type must be valid in a response field.
        guard type.utf8.count <= 255, type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Comapi.refusal(
                "type", "is “\(type.prefix(40))”; expected a content type of at most 255 printable ASCII characters")
        }
        guard (name?.utf8.count ?? 0) <= 1024 else {
            throw Comapi.refusal("name", "has \(name?.utf8.count ?? 0) bytes; at most 1024 are allowed")
        }
        (self.bytes, self.name) = (bytes, name)
        self.type = type.isEmpty ? "application/octet-stream" : type
    }

    /// An object with the texts `data`, in base64, and `type`; `nil` for any other body. Source: JS SDK, iOS SDK.
    private init?(json arrival: ComapiArrival, _ type: String, _ fieldName: String?) throws(Comapi.Refused) {
        guard Self.saysJSON(type), let object = (try? JSON.parse(arrival.request.body))?.object,
            let data = object["data"]?.string, let own = object["type"]?.string
        else { return nil }
        _ = Fields<Comapi>(object, notedBy: arrival).outcome { $0.accept(["data", "type", "name"], as: "string") }
        guard let bytes = Base64URL.decodeLeniently(data.utf8) else {
            throw Comapi.refusal("data", "is a text of \(data.utf8.count) bytes that is not base64; expected base64")
        }
        try self.init(bytes: bytes, name: object["name"]?.string ?? fieldName, type: own)
    }

    /// The part `file` of a form. Source: JS SDK.
    private init(form body: [UInt8], _ type: String) throws(Comapi.Refused) {
        let form: MultipartForm
        do throws(MultipartForm.Problem) {
            form = try MultipartForm(body, type: type)
        } catch {
            throw Comapi.Refused(
                .malformedBody, ["faults": [["paramName": "body", "message": "is not valid"]]],
                because: "the form is broken: \(error); expected one strictly by RFC 7578")
        }
        guard let part = form.parts.first(where: { $0.name == "file" }) else { throw Comapi.missing("file") }
        try self.init(bytes: part.bytes, name: part.fileName, type: part.type ?? "")
    }
}

/// A body of type `multipart/form-data` (RFC 7578, RFC 2046 section 5.1), read strictly and within limits.
struct MultipartForm: Sendable {
    struct Part: Sendable {
        /// The parameter `name` of its `Content-Disposition`.
        let name: String
        /// The parameter `filename*` if it can be decoded, else `filename`.
        let fileName: String?
        /// `Content-Type` as sent.
        let type: String?
        let bytes: [UInt8]
    }

    enum Problem: String, Error, CustomStringConvertible {
        case noBoundary = "the content type names no boundary of 1 to 70 characters"
        case noOpening = "the body does not begin with the boundary"
        case noClosing = "the closing boundary is missing"
        case brokenDelimiter = "something follows a boundary"
        case brokenHead = "a part's head is broken"
        case headTooLong = "a part's head is longer than 8192 bytes"
        case noName = "a part has no Content-Disposition with a name"
        case tooManyParts = "there are more than 100 parts"

        var description: String { rawValue }
    }

    /// ours: limits, which the problems name. Clients send one part.
    private static let capacity = 100
    fileprivate static let longestHead = 8192

    private(set) var parts: [Part] = []

    static func isForm(_ type: String) -> Bool {
        type.prefix { $0 != ";" }.split(separator: " ").first?.lowercased() == "multipart/form-data"
    }

    /// Reads a body; before the first boundary and after the last one, only a line break is allowed.
    init(_ body: [UInt8], type: String) throws(Problem) {
        guard let boundary = Self.boundary(of: type) else { throw .noBoundary }
        let delimiter = Array("--\(boundary)".utf8)
        var rest = body[...]
        if rest.starts(with: Self.lineEnd) { rest = rest.dropFirst(2) }
        guard rest.starts(with: delimiter) else { throw .noOpening }
        rest = rest.dropFirst(delimiter.count)
        while true {
            if rest.starts(with: Self.dashes) {
                guard rest.count == 2 || rest.dropFirst(2).elementsEqual(Self.lineEnd) else { throw .brokenDelimiter }
                return
            }
            // RFC 2046 allows blanks after a boundary; no client of the vendor sends any.
            guard rest.starts(with: Self.lineEnd) else { throw .brokenDelimiter }
            guard parts.count < Self.capacity else { throw .tooManyParts }
            let start = rest.startIndex
            guard let end = rest.place(of: Self.lineEnd + delimiter) else { throw .noClosing }
            parts.append(try Part(rest[(start + 2)..<max(start + 2, end)]))
            rest = rest[(end + 2 + delimiter.count)...]
        }
    }

    fileprivate static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let dashes: [UInt8] = [0x2D, 0x2D]

    private static func boundary(of type: String) -> String? {
        let parameters = HeaderParameters(type)
        guard let boundary = parameters["boundary"], (1...70).contains(boundary.utf8.count),
            boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !boundary.hasSuffix(" ")
        else { return nil }
        return boundary
    }
}

extension MultipartForm.Part {
    fileprivate init(_ bytes: ArraySlice<UInt8>) throws(MultipartForm.Problem) {
        let separator = MultipartForm.lineEnd + MultipartForm.lineEnd
        let window = bytes.prefix(MultipartForm.longestHead + 4)
        guard let end = window.place(of: separator) else {
            throw window.count < bytes.count ? .headTooLong : .brokenHead
        }
        guard let head = String(validating: bytes[..<end], as: UTF8.self) else { throw .brokenHead }
        var fields: [String: String] = [:]
        for line in head.split(separator: "\r\n", omittingEmptySubsequences: false) {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .brokenHead }
            let name = line[..<colon].lowercased()
            guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                fields.updateValue(Self.trimmed(line[line.index(after: colon)...]), forKey: name) == nil
            else { throw .brokenHead }
        }
        let disposition = fields["content-disposition"] ?? ""
        let parameters = HeaderParameters(disposition)
        guard disposition.prefix(while: { $0 != ";" }).lowercased() == "form-data", let name = parameters["name"]
        else { throw .noName }
        self.init(
            name: name, fileName: parameters.extended("filename") ?? parameters["filename"],
            type: fields["content-type"], bytes: Array(bytes[(end + 4)...]))
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let front = text.drop(while: isBlank)
        return String(front[..<(front.lastIndex { !isBlank($0) }.map(front.index(after:)) ?? front.startIndex)])
    }
}

/// The parameters after a value, as in `form-data; name="file"`: tokens or quoted strings (RFC 9110 section 5.6.6).
struct HeaderParameters {
    private var values: [String: String] = [:]

    /// Reads the parameters, up to the first invalid one.
    init(_ field: String) {
        var rest = field.unicodeScalars[...]
        rest = rest.drop { $0 != ";" }
        while rest.popFirst() == ";" {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && $0 != ";" }))
            rest = rest.drop { $0 != "=" && $0 != ";" }
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            let value = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest)
            if let value, values[name.lowercased()] == nil { values[name.lowercased()] = value }
            rest = rest.drop { $0 == " " || $0 == "\t" }
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The value of `NAME*`, which declares its character set (RFC 8187 section 3.2); `nil` if absent or unreadable.
    ///
    /// RFC 7578 section 4.2 forbids clients to send it, but some libraries do; if both forms are present, it is
    /// preferred (RFC 6266 section 4.3).
    func extended(_ name: String) -> String? {
        guard let value = values[name + "*"] else { return nil }
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentEncoding.bytes(parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func token(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let value = rest.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        rest = rest.dropFirst(value.count)
        return value.isEmpty ? nil : String(String.UnicodeScalarView(value))
    }

    /// Undoes the escapes of browsers in names: quotes and line breaks only, not even percent signs (WHATWG HTML,
    /// section 4.10.21.8).
    private static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    /// A quoted string with its escapes undone; `nil` if unterminated.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return unescaped(String(value)) }
            // Only quotes and backslashes are escaped this way: browsers leave the backslashes of paths as they are.
            if scalar == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(next)
                rest.removeFirst()
            } else {
                value.append(scalar)
            }
        }
        return nil
    }
}
