// swift-tools-version: 6.0
import PackageDescription

// A package of its own: the server's needs macOS 15 and OpenSSL, and this one runs wherever apps are tested.
let package = Package(
    name: "understudy-client",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [.library(name: "UnderstudyClient", targets: ["UnderstudyClient"])],
    targets: [
        .target(name: "UnderstudyClient", swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
        .testTarget(
            name: "UnderstudyClientTests", dependencies: ["UnderstudyClient"],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    ]
)
