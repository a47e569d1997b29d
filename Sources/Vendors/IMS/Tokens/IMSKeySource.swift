import Emulation
import JSON
import Tokens

/// Where the keys of an issuer come from, as it was onboarded.
struct IMSKeySource: Sendable, Hashable {
    /// The ways to hand over keys. Source: certificate and JWKS URL are documented (seed), the others ours.
    enum Kind: String, Sendable, CaseIterable {
        case certificate = "pem-certificate"
        case publicKey = "pem-public-key"
        case keySet = "jwks"
        case keySetFile = "jwks-file"
        case keySetURL = "jwks-url"
        case certificateMap = "cert-map"
        case certificateMapURL = "cert-map-url"

        /// The member that holds the keys or says where they are.
        var member: String {
            switch self {
            case .certificate, .publicKey: "pem"
            case .keySet: "jwks"
            case .keySetFile: "file"
            case .keySetURL, .certificateMapURL: "url"
            case .certificateMap: "certs"
            }
        }

        /// The form of what is fetched; `nil` for keys that are at hand.
        var fetchedForm: RemoteKeys.Form? {
            switch self {
            case .keySetURL: .keySet
            case .certificateMapURL: .certificates
            case .certificate, .publicKey, .keySet, .keySetFile, .certificateMap: nil
            }
        }

        /// Whether the keys come in certificates.
        var isCertified: Bool { self == .certificate || self == .certificateMap || self == .certificateMapURL }
    }

    let kind: Kind
    /// The object `keys` as it was given, for exports; public parts only. Text takes a tenth of the memory of a tree.
    private let text: [UInt8]
    /// Where the keys are fetched; `nil` for keys that are at hand.
    let url: String?

    init(kind: Kind, given: JSON, url: String?) {
        (self.kind, self.url) = (kind, url)
        text = given.bytes
    }

    /// The object `keys` as it was given.
    var given: JSON {
        // What was written here can be read.
        (try? JSON.parse(text, maximumDepth: JSON.keptDepth)) ?? .null
    }

    /// The bytes that the source keeps.
    var byteCount: Int { text.count }

    /// What is fetched for an issuer of that name, nothing asked for yet; `nil` for keys that are at hand.
    func remoteKeys(of issuer: String) -> RemoteKeys? {
        guard let url, let form = kind.fetchedForm else { return nil }
        return RemoteKeys(issuer: issuer, url: url, form: form, algorithm: .rs256)
    }
}
