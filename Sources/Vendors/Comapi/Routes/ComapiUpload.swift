import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    /// Observed, Android SDK and JS SDK.
    fileprivate static let contentFileName = Self("Content-Filename") ?? .contentDisposition
}

/// The bytes of an upload, with their description.
struct ComapiUpload: Sendable {
    let bytes: [UInt8]
    let name: String?
    let type: String
    /// Why a body declared as JSON was stored raw; `nil` for all others.
    private(set) var remark: String?

    /// Reads the body: as JSON first, then as multipart; anything else is raw.
    init(_ request: Request) throws(ComapiRefusal) {
        let type = request.fields[.contentType] ?? ""
        let fieldName = request.fields[.contentFileName].flatMap { $0.isEmpty ? nil : $0 }
        if let upload = try ComapiUpload(json: request.body, type, fieldName) {
            self = upload
        } else if MultipartForm.isForm(type) {
            self = try ComapiUpload(form: request.body, type)
        } else {
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

    private init(bytes: [UInt8], name: String?, type: String) throws(ComapiRefusal) {
        // The type must be valid in a response field.
        guard type.utf8.count <= 255, type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Comapi.refusal(
                "type", "is “\(type.prefix(40))”; expected a content type of at most 255 printable ASCII characters")
        }
        guard (name?.utf8.count ?? 0) <= 1024 else {
            throw Comapi.refusal("name", "has \(name?.utf8.count ?? 0) bytes; at most 1024 are allowed")
        }
        self.bytes = bytes
        self.name = name
        self.type = type.isEmpty ? "application/octet-stream" : type
    }

    /// An object with the texts `data`, in base64, and `type`; `nil` for any other body. Source: JS SDK, iOS SDK.
    private init?(json body: [UInt8], _ type: String, _ fieldName: String?) throws(ComapiRefusal) {
        guard Self.saysJSON(type), let object = (try? JSON.parse(body))?.object,
            let data = object["data"]?.string, let own = object["type"]?.string
        else { return nil }
        guard let bytes = Base64URL.decodeLeniently(data.utf8) else {
            throw Comapi.refusal("data", "is a text of \(data.utf8.count) bytes that is not base64; expected base64")
        }
        try self.init(bytes: bytes, name: object["name"]?.string ?? fieldName, type: own)
    }

    /// The part `file` of a form. Source: JS SDK.
    private init(form body: [UInt8], _ type: String) throws(ComapiRefusal) {
        let form: MultipartForm
        do throws(MultipartForm.Problem) {
            form = try MultipartForm(body, type: type)
        } catch {
            throw Refusal(
                .malformedBody,
                ["faults": [["paramName": "body", "message": "is not valid"]]],
                because: "the form is broken: \(error); expected one to the letter of RFC 7578")
        }
        guard let part = form.parts.first(where: { $0.name == "file" }) else { throw Comapi.missing("file") }
        try self.init(bytes: part.bytes, name: part.fileName, type: part.type ?? "")
    }
}
