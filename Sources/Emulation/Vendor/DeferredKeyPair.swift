import Dispatch
import Synchronization
public import Tokens

/// An RSA key pair that is made when it is first needed.
///
/// A pair of 2048 bits costs some 0.2 s of a core. One background queue makes them one after another, so that neither a
/// request's loop nor the machine as a whole is held up by them.
public final class DeferredKeyPair: Sendable {
    private enum Stage {
        case unmade
        case inMaking([CheckedContinuation<Void, Never>])
        case made(SigningKey)
    }

    private static let workshop = DispatchQueue(label: "understudy.key-pairs", qos: .utility)
    private let stage: Mutex<Stage>

    /// A pair that will be made when needed.
    public init() {
        stage = Mutex(.unmade)
    }

    /// A pair that is there already.
    public init(_ key: SigningKey) {
        stage = Mutex(.made(key))
    }

    /// The pair, if it has been made.
    public var key: SigningKey? {
        stage.withLock { stage in
            if case .made(let key) = stage { key } else { nil }
        }
    }

    /// Returns once the pair is there; several callers share one making.
    public func make() async {
        await withCheckedContinuation { continuation in
            let next = stage.withLock { stage -> Next in
                switch stage {
                case .made: return .resume
                case .unmade:
                    stage = .inMaking([continuation])
                    return .begin
                case .inMaking(let waiting):
                    stage = .inMaking(waiting + [continuation])
                    return .wait
                }
            }
            switch next {
            case .resume: continuation.resume()
            case .begin: Self.workshop.async { self.work() }
            case .wait: break
            }
        }
    }

    private enum Next {
        case resume
        case begin
        case wait
    }

    private func work() {
        let key = SigningKey.generateRSA(bits: 2048)
        let waiting = stage.withLock { stage -> [CheckedContinuation<Void, Never>] in
            defer { stage = .made(key) }
            if case .inMaking(let waiting) = stage { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }
}
