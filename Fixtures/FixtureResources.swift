#if canImport(Darwin)
    import Foundation
#else
    import Glibc
#endif

/// Where the installed copy of the fixtures lies.
package enum FixtureResources {
    /// The folders that may hold it, the likeliest first: the bundle that the package manager lays beside the binary, and
    /// the places of an installed binary.
    package static var candidates: [String] {
        #if canImport(Darwin)
            let bundle = Bundle.module.resourcePath
            let folder = Bundle.main.executableURL?.deletingLastPathComponent().path
        #else
            let folder = executableFolder
            let bundle = folder.map { $0 + "/understudy_Fixtures.resources" }
        #endif
        return [bundle].compactMap { $0 }
            + (folder.map { [$0 + "/Fixtures", $0 + "/../share/understudy/Fixtures"] } ?? [])
    }

    #if !canImport(Darwin)
        private static var executableFolder: String? {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &buffer, buffer.count)
            guard length > 0 else { return nil }
            let path = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return path.lastIndex(of: "/").map { String(path[..<$0]) }
        }
    #endif
}
