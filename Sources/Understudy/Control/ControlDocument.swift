import Emulation
import JSON
import Wire

/// The control API as an OpenAPI 3.1 document: `openapi.yaml`, which is part of the program.
enum ControlDocument {
    /// Read when it is first asked for, to keep the start fast; a test has read it before.
    private static let text: JSONObject = {
        let file = FixtureStore.File(path: "openapi.yaml", bytes: PackageResources.openapi_yaml)
        return (try? FixtureNode(file: file).json().object) ?? [:]
    }()

    /// The document with what depends on the server.
    static func json(asksForToken: Bool) -> JSON {
        var document = text
        var info = document["info"]?.object ?? [:]
        info["version"] = .string(Emulator.version)
        document["info"] = .object(info)
        // Without a control token, the server accepts any.
        if asksForToken { document["security"] = [["controlToken": []]] }
        return .object(document)
    }

    /// Where references find the schemas.
    static let place = "#/components/schemas/"

    static func reference(_ name: String) -> JSON { ["$ref": .string(place + name)] }

    /// A schema that calls refer to by this name.
    static func schema(_ name: String) -> JSON? { text["components"]?["schemas"]?[name] }

    /// The members of an object that it describes.
    static func members(_ name: String) -> JSONObject { schema(name)?["properties"]?.object ?? [:] }
}

extension ControlAPI {
    @Sendable static func describe(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(ControlDocument.json(asksForToken: call.emulator.controlAccess.token != nil)))
    }
}
