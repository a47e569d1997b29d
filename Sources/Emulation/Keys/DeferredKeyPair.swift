import Dispatch
import Synchronization
public import Tokens

/// A key pair that is generated when it is first needed.
///
/// A 2048-bit RSA pair costs about 0.2 s of a core. One background queue generates them in turn, so that they hold up
/// neither a request's event loop nor the whole machine.
public final class DeferredKeyPair: Sendable {
    private enum Stage {
        case unmade
        case unread(@Sendable () throws(KeyError) -> SigningKey)
        case inMaking
        case made(Result<SigningKey, KeyError>)
    }

    private static let workshop = DispatchQueue(label: "understudy.key-pairs", qos: .utility)
    private let stage: Mutex<Stage>
    private let gate = Gate()
    private let kind: KeyKind

    package init(of kind: KeyKind = .rsa(bits: 2048)) {
        self.kind = kind
        stage = Mutex(.unmade)
    }

    package init(_ key: SigningKey) {
        kind = key.kind
        stage = Mutex(.made(.success(key)))
    }

    /// A pair that is read when it is first needed.
    package init(reading read: @escaping @Sendable () throws(KeyError) -> SigningKey) {
        kind = .rsa(bits: 2048)
        stage = Mutex(.unread(read))
    }

    /// Whether the pair exists, read or not.
    package var isGiven: Bool {
        stage.withLock { stage in
            switch stage {
            case .unmade, .inMaking, .made(.failure): false
            case .unread, .made(.success): true
            }
        }
    }

    /// The pair, or `nil` until it is generated.
    ///
    /// - Throws: why the library could not generate it.
    package func key() throws(KeyError) -> SigningKey? {
        let result = stage.withLock { stage -> Result<SigningKey, KeyError>? in
            if case .unread(let read) = stage { stage = .made(Result(catching: read)) }
            return if case .made(let result) = stage { result } else { nil }
        }
        return try result?.get()
    }

    /// The pair, or `nil` until it is generated or when that failed.
    public var made: SigningKey? {
        // Callers that need the pair report why there is none.
        (try? key()) ?? nil
    }

    /// Returns once the pair exists; concurrent callers share one generation.
    package func make() async {
        let (isMade, isFirst) = stage.withLock { stage in
            switch stage {
            case .made, .unread: return (true, false)
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

/// A one-time event that tasks can await without blocking a thread.
final class Gate: Sendable {
    private enum Stage {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let stage = Mutex(Stage.closed([]))

    /// Returns once the gate is open.
    func passage() async {
        await withCheckedContinuation { continuation in
            let isOpen = stage.withLock { stage in
                guard case .closed(let waiting) = stage else { return true }
                stage = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = stage.withLock { stage -> [CheckedContinuation<Void, Never>] in
            defer { stage = .open }
            if case .closed(let waiting) = stage { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }
}
