import HTTPEngine
import HTTPTypes
import JSON
import Synchronization
import Tokens
import Wire

/// A local server that publishes an issuer's discovery document and keys, and some that lead astray.
final class KeyServer: Sendable {
    /// Generated once for all tests, since a pair takes a tenth of a second.
    static let key = Result {
        var key = try SigningKey.generateRSA()
        key.id = key.thumbprint
        return key
    }

    private final class Handler: RequestHandler {
        let seen = Mutex<[String]>([])

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 0, answer: answer) }

        func answer(_ request: Request) -> Answer {
            seen.withLock { $0.append(String(request.path)) }
            return .ready(response(to: String(request.path), at: request.authority ?? ""))
        }

        private func response(to path: String, at authority: String) -> Response {
            let base = "http://\(authority)"
            switch path {
            case "/keys":
                let key = (try? KeyServer.key.get())?.publicJWK(algorithm: .rs256)
                return .json(["keys": .array(key.map { [$0] } ?? [])])
            case "/good/.well-known/openid-configuration":
                return .json(["issuer": .string(base + "/good"), "jwks_uri": .string(base + "/keys")])
            case "/moved/.well-known/openid-configuration":
                return moved(to: "/good/.well-known/openid-configuration")
            case "/absolute/.well-known/openid-configuration":
                return moved(to: base + "/good/.well-known/openid-configuration")
            case "/circle/.well-known/openid-configuration": return moved(to: path)
            case "/astray/.well-known/openid-configuration": return moved(to: "https://\(authority)\(path)")
            case "/host/.well-known/openid-configuration":
                return moved(to: "//\(authority)/good/.well-known/openid-configuration")
            case "/lost/.well-known/openid-configuration":
                var response = Response.json([:])
                response.transmission = Transmission(fault: .empty)
                return response
            default: return .json(["errorCode": "E0000007"], status: .notFound)
            }
        }

        private func moved(to location: String) -> Response {
            Response(status: .found, fields: [.location: location])
        }
    }

    private let handler = Handler()
    private let server: Server
    let base: String

    init() throws {
        server = try Server(ServerConfiguration(listeners: [.init(port: 0)], loops: 1), handler: handler)
        base = "http://127.0.0.1:\(server.addresses[0].port)"
        server.start()
    }

    /// The paths of the requests so far.
    var seen: [String] { handler.seen.withLock { $0 } }
}
