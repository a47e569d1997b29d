import Synchronization

/// The known secrets of a sandbox: those of the fixtures, and those its states have learned since.
///
/// Built on reading, and only extended afterwards: checking for new secrets costs one lock per vendor.
final class SecretIndex: Sendable {
    private struct Content {
        var layers: [KnownSecrets] = []
        var marks: [SecretMark?] = []
        var count = 0
    }

    /// ours: above this number all are collected again, dropping those that the states have forgotten.
    private static let capacity = 400_000

    private let content = Mutex(Content())

    /// The secrets that the vendors have learned, in layers, each several times as large as the next.
    func layers(of vendors: [any SandboxedVendor]) -> [KnownSecrets] {
        content.withLock { content in
            if content.marks.count != vendors.count || content.count > Self.capacity {
                content = Content(marks: vendors.map { _ in nil })
            }
            for (index, vendor) in vendors.enumerated() {
                guard let (texts, mark) = vendor.secrets(since: content.marks[index]) else { continue }
                content.marks[index] = mark
                Self.add(texts, &content)
            }
            return content.layers
        }
    }

    private static func add(_ texts: [String], _ content: inout Content) {
        if texts.isEmpty { return }
        content.count += texts.count
        content.layers.append(KnownSecrets(texts))
        // Each secret moves only a few times, in whatever order they arrive.
        while let last = content.layers.last, let other = content.layers.dropLast().last, other.count < 2 * last.count {
            content.layers.removeLast(2)
            content.layers.append(KnownSecrets(other.texts.union(last.texts)))
        }
    }
}

/// The secret and public strings of the fixtures; combined on reading.
final class FixtureSecrets: Sendable {
    private let vendors: [any LoadedVendor]
    private let made = Mutex<(KnownSecrets, published: Set<String>)?>(nil)

    init(of vendors: [any LoadedVendor]) {
        self.vendors = vendors
    }

    var texts: (secrets: KnownSecrets, published: Set<String>) {
        made.withLock { made in
            if let made { return made }
            let texts = (
                KnownSecrets(vendors.flatMap(\.secretTexts)),
                published: Set(vendors.flatMap { $0.samples.map(\.value) })
            )
            made = texts
            return texts
        }
    }
}
