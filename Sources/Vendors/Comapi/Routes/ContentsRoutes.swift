import Emulation
import HTTPTypes
import JSON
import Wire

/// Content. Source: the three forms of an upload are observed; reading content is ours.
extension Comapi {
    static func uploadContent(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        guard let upload = try call.credentials.upload?.get() else { throw Refusal(.malformedBody) }
        if let remark = upload.remark { call.note("unreadable-json", remark, source: "JS SDK, iOS SDK") }
        let folder = call.request.queryItems.first { $0.name == "folder" && !$0.value.isEmpty }?.value ?? "content"
        let id = call.identifiers.uuid()
        let content = ComapiContent(
            id: id, space: call.space.id, name: upload.name ?? id, type: upload.type, folder: folder,
            bytes: upload.bytes)
        state.contents.store(content)
        return .json([
            "id": .string(id), "name": .string(content.name), "size": JSON(content.bytes.count),
            "type": .string(content.type), "folder": .string(folder), "private": false,
            "url": .string(url(of: content, call)),
        ])
    }

    /// The URL of the content, on the host of the upload and in the same sandbox.
    private static func url(of content: ComapiContent, _ call: ComapiCall) -> String {
        "\(call.base)/apispaces/\(ComapiPath.encoded(content.space.text))/content/\(content.id)"
    }

    static func readContent(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["content"]
        guard let content = state.contents[id], content.id.hasSameBytes(as: id), content.space == call.space.id else {
            throw Refusal(
                .unknownContent,
                because: "no content of the space has the id \(id); expected that of an upload")
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
