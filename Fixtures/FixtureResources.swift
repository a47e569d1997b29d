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
            + (folder.map { [$0 + "/Fixtures", parent(of: $0) + "/share/understudy/Fixtures"] } ?? [])
    }

    /// What tests have judged: the digests of the installed files that vendors read, of their paths and contents.
    package static let judged: [UInt64] = [
        0x0937E8A61E23D59B, 0x94E8B72FF6965529, 0xB4AD89F2DF73E19A, 0x4A4776150523641B, 0x3BFCB48447B82BF3,
        0xB353FAF10AF3CE6E, 0x5776DB99C761031E, 0x9D12829AE386F404, 0x99CCF61B62290A01, 0x456D339080BF9C71,
        0xE3A064311819F75C, 0x71C7B7ED3565A8B2, 0xF786DF540CD0568F, 0x5B21F362AD1B435C, 0x44F33EAB4FE7BE0F,
        0xC99A7D376543CBD0, 0x5D94798174343AA4, 0x133E8C811900C87A, 0x9DC1C08413B3F7DB, 0x3A06F947083FE36F,
        0x9E95D50A0A5DFEFE, 0x5616B52120648A0A, 0xD330B9F9377300E1, 0x20CDCE77D05F0ED5, 0x928C2A0D5D337609,
        0x92699744B88B6243, 0x6B8FFB26C17A2E00, 0x126C92C300A58F57, 0x331D086578CA5CDB, 0xF80814D8079CA662,
        0x2A29D96928F9D576, 0x90E07B4E5EB0B643, 0x465430282C2F6F61, 0x020357F962F59381, 0xDA0F6F1FF4CC5ACA,
        0xCEFDE4D158E639B4, 0x9CD1E9FB8B6E8A2F, 0xAAA535B7D19B3EFC, 0x955B8999ECA8D989, 0xFF3AB5A244255B5C,
        0x42DE542CD81305E3, 0xEEE57B672F42A62A, 0xAA2D4A39CA34FD94, 0x2BC704829445B1CB, 0x08EE0C5B531F666A,
        0xFD51A1886AD63FCC, 0x1226FA368EECDE5F, 0x7E77AFCEBAA46A06, 0x933E859DF10C17A0, 0xDA3F94D7D5E99532,
        0x8018840E7218F915, 0xC9556A1CFBF690F5, 0x0F64E348223C4F36, 0xFA580EEE9A1E3572, 0x75DE9338DD56C45E,
        0xFA95254FC38D2D2D, 0x85E5FE8FFEDA4391, 0xB11A2345B8FF627B, 0x84B4C7E1863B81D3, 0x182AE847C6D8FBD7,
        0x9C8E34BAA1EA1672, 0x664024BC098A950F, 0xC2F670B0678EEB6A, 0x62AB6A056E05FD77, 0xE0A0DEBD213FD73E,
        0x4B9476983F413A7B, 0x2ABBB7C7603987C5, 0xCE36D7BF38F45875,
    ]

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    #if !canImport(Darwin)
        private static var executableFolder: String? {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &buffer, buffer.count)
            guard length > 0 else { return nil }
            let path = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return parent(of: path)
        }
    #endif
}
