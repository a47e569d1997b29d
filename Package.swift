// swift-tools-version: 6.1
import PackageDescription

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
    name: "understudy",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Tokens", targets: ["Tokens"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(name: "CEpoll"),
        .target(name: "JSON"),
        .target(name: "Wire", dependencies: ["JSON", httpTypes]),
        .target(name: "HTTPEngine", dependencies: ["Wire", "COpenSSL", "CEpoll", httpTypes]),
        .target(name: "Tokens", dependencies: ["JSON", "COpenSSL"]),
        .testTarget(name: "JSONTests", dependencies: ["JSON"]),
        .testTarget(name: "WireTests", dependencies: ["Wire"]),
        .testTarget(name: "HTTPEngineTests", dependencies: ["HTTPEngine"]),
        .testTarget(name: "TokensTests", dependencies: ["Tokens"]),
    ]
)

for target in package.targets where target.type == .regular || target.type == .test || target.type == .executable {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
}
