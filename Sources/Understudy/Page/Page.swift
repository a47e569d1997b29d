internal import CEmbedded
import HTTPTypes
import Wire

/// The page for inspecting the server in a browser: `/_understudy/` and the files it consists of.
///
/// They are compiled into the program, so nothing is read from disk, and contain no sandbox data: the page reads what
/// it shows from the control API, like any other client. The rules of ``ControlAccess`` also apply to it.
enum Page {
    /// Whether a request reads the root path, where no vendor has anything; checked for every request, so the length
    /// decides.
    static func isFrontDoor(_ request: Request) -> Bool {
        request.target.utf8.count == 1 && request.target == "/" && (request.method == .get || request.method == .head)
    }

    private static let root = ControlOperation.prefix + "/"
    private static let folder: StaticString = "/_understudy/page/"

    /// The page or one of its files; `nil` when the request is for neither.
    static func response(to request: Request) -> Response? {
        guard request.method == .get || request.method == .head else { return nil }
        if request.targetBegins(with: folder) {
            let name = String(request.path.dropFirst(folder.utf8CodeUnitCount))
            return PageFile.all[name]?.response(to: request)
        }
        let isRoot = request.path == root
        guard isRoot || request.path == ControlOperation.prefix || request.path == "/",
            request.fields.values(of: .accept).contains(where: { $0.firstRange(of: "text/html") != nil })
        else { return nil }
        // Relative, so that the prefix that selects a sandbox is kept.
        let redirection = Response(status: .seeOther, fields: [.location: "_understudy/"])
        return isRoot ? PageFile.all["index.html"]?.response(to: request) : redirection
    }
}

struct PageFile: Sendable {
    let bytes: [UInt8]
    private let fields: HTTPFields
    private let tag: String

    private init(_ file: EmbeddedFile) {
        bytes = file.bytes
        tag = Self.tag(of: bytes)
        let ending = file.name.split(separator: ".").last ?? ""
        fields = [
            .contentType: Self.types[String(ending)] ?? "application/octet-stream", .contentSecurityPolicy: Self.policy,
            // A new release shows at once; unchanged files are not sent again.
            .cacheControl: "no-cache", .eTag: tag, .init("Referrer-Policy") ?? .eTag: "no-referrer",
        ]
    }

    /// The file, or 304 for a client that already has it.
    func response(to request: Request) -> Response {
        guard request.fields[.ifNoneMatch] != tag else { return Response(status: .notModified, fields: fields) }
        return Response(status: .ok, fields: fields, body: bytes)
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml", "md": "text/markdown; charset=utf-8",
    ]

    /// No external content, no scripts in markup, no markup from strings, and no framing.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// Based on FNV-1a: it distinguishes versions and protects nothing.
    private static func tag(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\"\(String(hash, radix: 16))\""
    }

    static let all: [String: PageFile] = {
        let files = EmbeddedFile.all(in: "page").map { ($0.name, PageFile($0)) }
        return Dictionary(files, uniquingKeysWith: { first, _ in first })
    }()
}

/// A file that is part of the program, so that it is wherever the program is.
struct EmbeddedFile: Sendable {
    let name: String
    let bytes: [UInt8]

    /// The files of a folder: `page` or `control`.
    static func all(in folder: String) -> [EmbeddedFile] {
        (0..<embedded_file_count()).compactMap { index in
            let file = embedded_file_at(index)
            let path = String(cString: file.path)
            guard path.hasPrefix(folder + "/") else { return nil }
            return EmbeddedFile(
                name: String(path.dropFirst(folder.utf8.count + 1)),
                bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
        }
    }
}
