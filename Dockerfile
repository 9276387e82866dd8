# The core with the bundled models, without torch:
#   docker build -t sciextract .
#   docker run --rm -it -v "$PWD:/work" sciextract tui refs.bib
FROM python:3.12-slim AS build
COPY . /src
RUN pip install --no-cache-dir --constraint /src/constraints.txt --prefix /opt/sciextract /src

FROM python:3.12-slim
COPY --from=build /opt/sciextract /usr/local
RUN useradd --create-home --uid 1000 researcher
USER 1000
WORKDIR /work
ENV TERM=xterm-256color
ENTRYPOINT ["sciextract"]
CMD ["--help"]
