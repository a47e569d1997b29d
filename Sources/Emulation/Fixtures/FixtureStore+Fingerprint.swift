extension FixtureStore {
    /// How many bytes the files may have together: they are read again with each change.
    private static let mostBytes = 256 << 20

    /// A short text that changes when any file of these folders does, as the layers show them.
    ///
    /// - Throws: the first thing among them that cannot be read as a file, or is too much.
    public func fingerprint(of folders: [String]) throws(FixtureProblem) -> String {
        var hash = Hash()
        var count = 0
        for path in try paths(below: folders) {
            let bytes = try bytes(at: path)
            count += bytes.count
            guard count <= Self.mostBytes else {
                throw FixtureProblem(
                    file: path, message: "the fixtures up to here have \(count) bytes; \(Self.mostBytes) are allowed")
            }
            hash.mix(Array(path.utf8))
            hash.mix(bytes)
        }
        return hash.text
    }

    /// A file that went away meanwhile, or that nobody needs and may not be read, counts by its name alone.
    private func bytes(at path: String) throws(FixtureProblem) -> [UInt8] {
        switch look(path) {
        case .content(_, let file): file.bytes
        case .absent, .unreadable: []
        case .refused(let problem): throw problem
        }
    }

    /// After FNV-1a, eight bytes at a time: it tells versions apart and protects nothing.
    private struct Hash {
        private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

        private mutating func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 32
        }

        mutating func mix(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { bytes in
                let end = bytes.count & ~7
                for offset in stride(from: 0, to: end, by: 8) {
                    mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                }
                mix(bytes[end...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) })
            }
        }

        var text: String {
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    /// The files below a layer that were read, and those that nobody asked for, by their paths in it.
    ///
    /// - Throws: the first thing that is no file and no folder, leaves the layer, or is too much.
    public func usage(of layer: String) throws(FixtureProblem) -> (read: [String], unread: [String]) {
        let walk = FixtureWalk(layer, below: "")
        if let problem = walk.problem { throw problem }
        let all = walk.paths.sorted()
        return (all.filter { wasRead(Self.join(layer, $0)) }, all.filter { !wasRead(Self.join(layer, $0)) })
    }

    /// The files below these folders in any layer, sorted.
    private func paths(below folders: [String]) throws(FixtureProblem) -> [String] {
        var paths: Set<String> = []
        for walk in walks(below: folders) {
            if let problem = walk.problem { throw problem }
            paths.formUnion(walk.paths)
        }
        return paths.sorted()
    }

    func walks(below folders: [String]) -> [FixtureWalk] {
        layers.flatMap { layer in folders.map { FixtureWalk(layer, below: $0) } }
    }
}
