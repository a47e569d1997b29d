import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    /// Observed, Android SDK and JS SDK.
    fileprivate static let contentFileName = Self("Content-Filename") ?? .contentDisposition
}

/// Content. Source: the three forms of an upload are observed; that content can be read is ours.
extension Comapi {
    static func uploadContent(_ call: inout ComapiCall, _ state: inout ComapiState) throws(ComapiRefusal) -> Reply {
        let upload = try ComapiUpload(call)
        let folder = call.request.queryItems.first { $0.name == "folder" && !$0.value.isEmpty }?.value ?? "content"
        let id = call.identifiers.uuid()
        let content = ComapiContent(
            id: id, space: call.space.id, name: upload.name ?? id, type: upload.type, folder: folder,
            bytes: upload.bytes)
        state.contents.add(content)
        return .json([
            "id": .string(id), "name": .string(content.name), "size": JSON(content.bytes.count),
            "type": .string(content.type), "folder": .string(folder), "private": false,
            "url": .string(url(of: content, call)),
        ])
    }

    /// Where the content can be read: by the host of the upload, and in the same sandbox.
    private static func url(of content: ComapiContent, _ call: ComapiCall) -> String {
        let request = call.request
        let scheme = request.connection.isSecure ? "https" : "http"
        let authority = request.authority ?? "localhost"
        let name = call.arrival.sandbox.name
        let isNamed = name == SandboxName.standard || authority.lowercased().hasPrefix("\(name).localhost")
        return "\(scheme)://\(authority)\(isNamed ? "" : "/~\(name)")/apispaces/"
            + "\(ComapiPath.encoded(content.space.text))/content/\(content.id)"
    }

    static func readContent(_ call: inout ComapiCall, _ state: inout ComapiState) throws(ComapiRefusal) -> Reply {
        let id = call.parameters["content"]
        guard let content = state.contents[id], content.id.hasSameBytes(as: id), content.space == call.space.id else {
            throw Refusal(.unknownContent, because: "no content of the space has the id \(id), or it had to make room")
        }
        var response = Response(status: .ok, body: content.bytes)
        response.fields[.contentType] = content.type
        response.fields[.xContentTypeOptions] = "nosniff"
        return .respond(response)
    }
}

/// The bytes of an upload, with what is told about them.
private struct ComapiUpload {
    let bytes: [UInt8]
    let name: String?
    let type: String

    /// Tells the forms apart in the order of the spec: JSON, multipart, and everything else raw.
    init(_ call: ComapiCall) throws(ComapiRefusal) {
        let type = call.request.fields[.contentType] ?? ""
        let fieldName = call.request.fields[.contentFileName].flatMap { $0.isEmpty ? nil : $0 }
        if let upload = try ComapiUpload(json: call.request.body, type, fieldName) {
            self = upload
        } else if MultipartForm.isForm(type) {
            self = try ComapiUpload(form: call.request.body, type)
        } else {
            self = try ComapiUpload(bytes: call.request.body, name: fieldName, type: type)
        }
    }

    private init(bytes: [UInt8], name: String?, type: String) throws(ComapiRefusal) {
        // What is sent back in a field must be able to stand in one.
        guard type.utf8.count <= 255, type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ComapiFaults.invalid("type", because: "is no content type")
        }
        guard (name?.utf8.count ?? 0) <= 1024 else { throw ComapiFaults.invalid("name", because: "is too long") }
        self.bytes = bytes
        self.name = name
        self.type = type.isEmpty ? "application/octet-stream" : type
    }

    /// An object with the texts `data`, in base64, and `type`; `nil` for any other body. Source: JS SDK, iOS SDK.
    private init?(json body: [UInt8], _ type: String, _ fieldName: String?) throws(ComapiRefusal) {
        guard type.prefix(while: { $0 != ";" && $0 != " " }).lowercased() == "application/json",
            let object = (try? JSON.parse(body))?.object, let data = object["data"]?.string,
            let own = object["type"]?.string
        else { return nil }
        guard let bytes = Base64URL.decodeLeniently(data.utf8) else {
            throw ComapiFaults.invalid("data", because: "is not base64")
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
                because: "the form is broken: \(error)")
        }
        guard let part = form.parts.first(where: { $0.name == "file" }) else { throw ComapiFaults.missing("file") }
        try self.init(bytes: part.bytes, name: part.fileName, type: part.type ?? "")
    }
}
