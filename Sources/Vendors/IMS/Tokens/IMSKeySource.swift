import Emulation
import JSON
import Tokens

/// Where the keys of an issuer come from, as it was onboarded.
struct IMSKeySource: Sendable, Hashable {
    /// The ways to provide keys. Source: certificate and JWKS URL are documented (security page), the others ours.
    enum Kind: String, Sendable, CaseIterable {
        case certificate = "pem-certificate"
        case publicKey = "pem-public-key"
        case keySet = "jwks"
        case keySetFile = "jwks-file"
        case keySetURL = "jwks-url"
        case certificateMap = "cert-map"
        case certificateMapURL = "cert-map-url"

        /// The member that holds the keys or their location.
        var member: String {
            switch self {
            case .certificate, .publicKey: "pem"
            case .keySet: "jwks"
            case .keySetFile: "file"
            case .keySetURL, .certificateMapURL: "url"
            case .certificateMap: "certs"
            }
        }

        /// The form of fetched content; `nil` for local keys.
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
    /// The object `keys` as given, for exports; public parts only. Text takes a tenth of the memory of a tree.
    private let text: [UInt8]
    /// Where the keys are fetched; `nil` for local keys.
    let url: String?

    init(kind: Kind, given: JSON, url: String?) {
        (self.kind, self.url) = (kind, url)
        text = given.bytes
    }

    var given: JSON {
        // This server wrote it, so it parses.
        (try? JSON.parse(text, maximumDepth: JSON.keptDepth)) ?? .null
    }

    /// The size of the stored source.
    var byteCount: Int { text.count }

    /// The keys to fetch for the issuer with that name, none requested yet; `nil` for local keys.
    func remoteKeys(of issuer: String) -> RemoteKeys? {
        guard let url, let form = kind.fetchedForm else { return nil }
        return RemoteKeys(issuer: issuer, url: url, form: form, algorithm: .rs256)
    }
}
