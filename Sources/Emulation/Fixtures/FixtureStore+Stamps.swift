#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Distinguishes versions of a set of files without reading them.
package struct FixtureStamps: Sendable, Hashable {
    /// File attributes that reveal a change, whether the file is overwritten or replaced.
    private struct Stamp: Hashable {
        let size: Int64
        let inode: UInt64
        let modified: [Int]

        init?(_ path: String) {
            var facts = stat()
            // Links are followed: a mounted folder may consist of them.
            guard stat(path, &facts) == 0 else { return nil }
            size = Int64(facts.st_size)
            inode = UInt64(facts.st_ino)
            #if canImport(Darwin)
                let (content, entry) = (facts.st_mtimespec, facts.st_ctimespec)
            #else
                let (content, entry) = (facts.st_mtim, facts.st_ctim)
            #endif
            modified = [content.tv_sec, content.tv_nsec, entry.tv_sec, entry.tv_nsec]
        }
    }

    private var stamps: [String: Stamp] = [:]
    /// Problems that kept some of the files from being seen.
    private var problems: [FixtureProblem] = []

    package init() {}

    fileprivate mutating func add(_ walk: FixtureWalk) {
        for path in walk.paths.map({ FixtureStore.join(walk.layer, $0) }) { stamps[path] = Stamp(path) }
        if let problem = walk.problem { problems.append(problem) }
    }
}

extension FixtureStore {
    /// The stamps of all files, in every layer.
    package var stamps: FixtureStamps {
        var stamps = FixtureStamps()
        for walk in walks { stamps.add(walk) }
        return stamps
    }
}
