import Dispatch
import Synchronization
public import Tokens

/// A key pair that is made when it is first needed.
///
/// An RSA pair of 2048 bits costs some 0.2 s of a core. One background queue makes them one after another, so that neither a
/// request's loop nor the machine as a whole is held up by them.
public final class DeferredKeyPair: Sendable {
    private enum Stage {
        case unmade
        case inMaking
        case made(Result<SigningKey, KeyError>)
    }

    private static let workshop = DispatchQueue(label: "understudy.key-pairs", qos: .utility)
    private let stage: Mutex<Stage>
    private let gate = Gate()
    private let kind: KeyKind

    /// A pair of that kind that will be made when needed.
    public init(of kind: KeyKind = .rsa(bits: 2048)) {
        self.kind = kind
        stage = Mutex(.unmade)
    }

    /// A pair that is there already.
    public init(_ key: SigningKey) {
        kind = key.kind
        stage = Mutex(.made(.success(key)))
    }

    /// The pair, or `nil` while it has not been made.
    ///
    /// - Throws: why the library could not make one.
    public func key() throws(KeyError) -> SigningKey? {
        let result = stage.withLock { stage -> Result<SigningKey, KeyError>? in
            if case .made(let result) = stage { result } else { nil }
        }
        return try result?.get()
    }

    /// The pair, or `nil` while it has not been made or when none could be.
    public var made: SigningKey? {
        // Why there is none is for those to tell who need one.
        (try? key()) ?? nil
    }

    /// Returns once the pair is there; several callers share one making.
    public func make() async {
        let (isMade, isFirst) = stage.withLock { stage in
            switch stage {
            case .made: return (true, false)
            case .inMaking: return (false, false)
            case .unmade:
                stage = .inMaking
                return (false, true)
            }
        }
        if isMade { return }
        if isFirst { Self.workshop.async { self.work() } }
        await gate.passage()
    }

    private func work() {
        let result = Result { () throws(KeyError) in try generate() }
        stage.withLock { $0 = .made(result) }
        gate.open()
    }

    private func generate() throws(KeyError) -> SigningKey {
        switch kind {
        case .rsa(let bits): try SigningKey.generateRSA(bits: bits)
        case .ec(let curve): try SigningKey.generateEC(curve)
        case .ed25519: try SigningKey.generateEd25519()
        case .secret: throw .unsupportedType("secret, which has no pair")
        }
    }
}
